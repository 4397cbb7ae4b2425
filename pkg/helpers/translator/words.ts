/**
 * Pairs English=Spanish, in lower case; `_` stands for a space. If a word occurs twice, its first entry counts.
 */
export const WORDS = `
the=el the=la the=los the=las a=un a=una
and=y or=o but=pero not=no yes=sí of=de in=en on=sobre at=en to=a for=para with=con without=sin from=desde by=por about=acerca
after=después before=antes between=entre under=bajo over=encima against=contra during=durante until=hasta since=desde i=yo you=tú
he=él she=ella we=nosotros they=ellos it=ello me=me my=mi your=tu his=su our=nuestro their=sus this=este this=esta that=ese
these=estos those=esos who=quién what=qué which=cuál when=cuando where=donde why=porqué how=cómo all=todo all=todos some=algunos
many=muchos few=pocos each=cada every=cada other=otro another=otro same=mismo more=más less=menos very=muy too=también
also=también only=solo never=nunca always=siempre often=seguido now=ahora then=entonces here=aquí there=allí today=hoy
tomorrow=mañana yesterday=ayer again=otra_vez already=ya still=todavía if=si because=porque is=es is=está are=son are=están
was=era were=eran be=ser been=sido am=soy has=tiene have=tienen had=tenía do=hacer does=hace did=hizo can=puede could=podría
will=será would=sería should=debería must=debe may=puede go=ir goes=va went=fue come=venir comes=viene came=vino see=ver sees=ve
saw=vio read=leer reads=lee write=escribir writes=escribe wrote=escribió know=saber knows=sabe think=pensar thinks=piensa
say=decir says=dice said=dijo give=dar gives=da gave=dio take=tomar takes=toma took=tomó make=hacer makes=hace made=hecho
want=querer wants=quiere need=necesitar needs=necesita learn=aprender learns=aprende teach=enseñar teaches=enseña study=estudiar
studies=estudia open=abrir opens=abre close=cerrar closes=cierra send=enviar sends=envía sent=envió receive=recibir
receives=recibe find=encontrar finds=encuentra found=encontró lose=perder loses=pierde ask=preguntar asks=pregunta
answer=respuesta answers=respuestas speak=hablar speaks=habla listen=escuchar listens=escucha hear=oír hears=oye eat=comer
eats=come drink=beber drinks=bebe sleep=dormir sleeps=duerme work=trabajo works=trabaja play=jugar plays=juega live=vivir
lives=vive buy=comprar buys=compra sell=vender sells=vende pay=pagar pays=paga help=ayuda helps=ayuda wait=esperar waits=espera
begin=empezar begins=empieza end=fin ends=termina stop=parar stops=para use=usar uses=usa change=cambio changes=cambios
keep=guardar keeps=guarda delete=borrar deletes=borra copy=copia copies=copias move=mover moves=mueve save=guardar saves=guarda
share=compartir shares=comparte upload=subir uploads=sube download=descargar search=buscar searches=busca show=mostrar
shows=muestra add=añadir adds=añade remove=quitar removes=quita print=imprimir sign=firmar call=llamar student=estudiante
students=estudiantes teacher=profesor teachers=profesores school=escuela schools=escuelas university=universidad class=clase
classes=clases course=curso courses=cursos lesson=lección lessons=lecciones book=libro books=libros page=página pages=páginas
word=palabra words=palabras sentence=frase sentences=frases text=texto texts=textos language=idioma languages=idiomas
english=inglés spanish=español question=pregunta questions=preguntas exam=examen exams=exámenes grade=nota grades=notas
homework=tarea task=tarea tasks=tareas paper=papel pen=bolígrafo pencil=lápiz library=biblioteca libraries=bibliotecas
file=archivo files=archivos folder=carpeta folders=carpetas name=nombre names=nombres number=número numbers=números list=lista
lists=listas table=mesa tables=mesas chair=silla chairs=sillas picture=imagen pictures=imágenes letter=carta letters=cartas
document=documento documents=documentos form=formulario forms=formularios date=fecha dates=fechas time=tiempo hour=hora
hours=horas minute=minuto minutes=minutos second=segundo day=día days=días week=semana weeks=semanas month=mes months=meses
year=año years=años morning=mañana afternoon=tarde evening=tarde night=noche monday=lunes tuesday=martes wednesday=miércoles
thursday=jueves friday=viernes saturday=sábado sunday=domingo january=enero february=febrero march=marzo april=abril june=junio
july=julio august=agosto september=septiembre october=octubre november=noviembre december=diciembre spring=primavera summer=verano
autumn=otoño winter=invierno man=hombre men=hombres woman=mujer women=mujeres boy=niño girl=niña child=niño children=niños
friend=amigo friends=amigos family=familia father=padre mother=madre brother=hermano sister=hermana son=hijo daughter=hija
people=gente person=persona world=mundo country=país city=ciudad cities=ciudades street=calle house=casa houses=casas
garden=jardín kitchen=cocina window=ventana wall=pared key=llave keys=llaves car=coche cars=coches train=tren trains=trenes
plane=avión bus=autobús road=camino water=agua bread=pan milk=leche coffee=café tea=té wine=vino meat=carne fish=pescado
fruit=fruta apple=manzana apples=manzanas orange=naranja egg=huevo eggs=huevos salt=sal sugar=azúcar food=comida
breakfast=desayuno lunch=almuerzo dinner=cena sun=sol moon=luna star=estrella stars=estrellas sky=cielo sea=mar river=río
mountain=montaña mountains=montañas tree=árbol trees=árboles flower=flor flowers=flores animal=animal dog=perro dogs=perros
cat=gato cats=gatos horse=caballo bird=pájaro birds=pájaros head=cabeza hand=mano hands=manos eye=ojo eyes=ojos heart=corazón
body=cuerpo health=salud doctor=médico hospital=hospital money=dinero price=precio prices=precios shop=tienda market=mercado
company=empresa office=oficina computer=computadora computers=computadoras phone=teléfono network=red program=programa
programs=programas problem=problema problems=problemas idea=idea ideas=ideas history=historia science=ciencia
mathematics=matemáticas music=música art=arte game=juego games=juegos story=cuento good=bueno good=buena bad=malo big=grande
small=pequeño new=nuevo new=nueva old=viejo young=joven long=largo short=corto high=alto low=bajo first=primero last=último
next=próximo easy=fácil difficult=difícil beautiful=hermoso happy=feliz sad=triste fast=rápido slow=lento hot=caliente cold=frío
clean=limpio dirty=sucio full=lleno empty=vacío free=libre important=importante interesting=interesante possible=posible
true=verdadero false=falso right=correcto wrong=incorrecto left=izquierda red=rojo blue=azul green=verde yellow=amarillo
black=negro white=blanco one=uno two=dos three=tres four=cuatro five=cinco six=seis seven=siete eight=ocho nine=nueve ten=diez
hundred=cien thousand=mil half=mitad hello=hola goodbye=adiós thanks=gracias please=por_favor welcome=bienvenido total=total
summary=resumen chapter=capítulo introduction=introducción author=autor title=título research=investigación result=resultado
results=resultados example=ejemplo examples=ejemplos exercise=ejercicio exercises=ejercicios address=dirección
`;
